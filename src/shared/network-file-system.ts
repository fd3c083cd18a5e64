/**
 * File systems that reach another machine, by the number with which Linux names them in `statfs`. A
 * database on one loses what it wrote: locks, shared memory and fsync are remote or absent (O25).
 *
 * Only the table: asking the system is the caller's part. FUSE is not in it, since local disks are
 * mounted through it as well.
 */

const nameByType: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x73757245, "Coda"],
]);

/** The name of a network file system, undefined for any other. `type` is what `statfs` calls so. */
export function networkFileSystemName(type: number): string | undefined {
  return nameByType.get(type);
}
