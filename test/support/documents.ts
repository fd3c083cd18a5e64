/**
 * Small documents for tests: a PDF of one page, and a DOCX of one paragraph in a zip that is stored or
 * deflated. Written by hand, so that no binary file lies in the repository.
 */
import { crc32, deflateRawSync } from "node:zlib";

/** A PDF whose one page says that, with an encryption dictionary where asked for. */
export function pdfOf(text: string, encrypted = false): Uint8Array<ArrayBuffer> {
  const stream = `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...(encrypted ? [encryption] : []),
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const id = "<00112233445566778899aabbccddeeff>";
  const lock = encrypted ? ` /Encrypt 6 0 R /ID [${id} ${id}]` : "";
  const tail = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${lock} >>\nstartxref\n${body.length}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(body + tail, "latin1"));
}

// The standard handler, with owner and user entries that no empty password fits.
const encryption = `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${"31".repeat(32)}> /U <${"32".repeat(32)}> >>`;

/** A DOCX that says that. */
export function docxOf(text: string): Uint8Array<ArrayBuffer> {
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  return zipOf({
    "[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="${word}"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
  });
}

/** A zip of these files, deflated. */
export function zipOf(
  files: Readonly<Record<string, string | Uint8Array>>,
): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(plain.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([signature(0x04034b50), fields, Buffer.from(name), packed]);
    const entryTail = Buffer.alloc(14);
    entryTail.writeUInt32LE(offset, 10);
    const version = Buffer.from([20, 0]);
    central.push(
      Buffer.concat([signature(0x02014b50), version, fields, entryTail, Buffer.from(name)]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.length, 4);
  end.writeUInt16LE(central.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...locals, directory, signature(0x06054b50), end]));
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
