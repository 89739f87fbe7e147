// Parquet as rows, read by hyparquet and unpacked by fflate and fzstd: the build puts all and their licences into the page.
import { gunzipSync } from "fflate";
import { decompress } from "fzstd";
import { parquetMetadata, parquetReadObjects, parquetSchema } from "hyparquet";

/** The bytes that the columns of a parquet file take unpacked, by its own words. */
export const unpackedSize = (bytes) =>
  parquetMetadata(bytes).row_groups.reduce((sum, { total_byte_size }) => sum + Number(total_byte_size), 0);

/** The names of a parquet file's columns. */
export const columns = (bytes) => parquetSchema(parquetMetadata(bytes)).children.map(({ element }) => element.name);

/** The rows of a parquet file in memory. */
export async function parquet(bytes) {
  const compressors = {
    GZIP: (packed, size) => gunzipSync(packed, { out: new Uint8Array(size) }),
    ZSTD: (packed, size) => decompress(packed, new Uint8Array(size)),
  };
  return (await parquetReadObjects({ file: bytes, compressors })).map(plain);
}

/** A cell as JSON would hold it: whole numbers above 2^53 and times as text. */
function plain(cell) {
  if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  if (Array.isArray(cell)) return cell.map(plain);
  if (cell instanceof Date) return cell.toISOString();
  if (ArrayBuffer.isView(cell)) return Array.from(cell, plain);
  if (typeof cell !== "object" || cell === null) return cell;
  return Object.fromEntries(Object.entries(cell).map(([name, value]) => [name, plain(value)]));
}
