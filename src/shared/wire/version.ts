/**
 * The version of this software, as `pixie --version` and `/v1/info` tell it. Kept equal to
 * package.json by a test; reading the file at run time would tie every program to its layout.
 */
export const softwareVersion = "0.1.0";
