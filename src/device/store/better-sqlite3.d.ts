/** Release 13 exports its types where no resolver looks; its interface is that of release 12. */
declare module "better-sqlite3" {
  export { default } from "better-sqlite3-12";
}
