// `npm run build`: the modules of this folder as one readable file, with the digest of its sources on top.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url),
  hash = createHash("sha256");
for (const name of readdirSync(here)
  .filter((file) => (file.endsWith(".js") && file !== "build.js") || file === "state.json")
  .sort()) {
  hash.update(`${name}\0`).update(readFileSync(new URL(name, here)));
}
/** What a package of others asks to be said of it wherever it is. */
function licence(name) {
  const folder = new URL(`node_modules/${name}/`, here),
    { author, license, version } = JSON.parse(readFileSync(new URL("package.json", folder))),
    terms = readFileSync(new URL("LICENSE", folder), "utf8").trim();
  return `It holds ${name} ${version} by ${author} (${license}):\n${terms}`
    .replaceAll(/^/gm, "// ")
    .replaceAll(/ +$/gm, "");
}

await build({
  entryPoints: [new URL("main.js", here).pathname],
  outfile: process.argv[2] ?? new URL("../explorer.js", here).pathname,
  bundle: true,
  format: "esm",
  target: "es2023",
  charset: "utf8",
  legalComments: "none",
  banner: {
    js: [
      `// Built by \`npm run build\` from lab/explorer/front; sources sha256 ${hash.digest("hex")}`,
      ...["fflate", "fzstd", "hyparquet"].map(licence),
    ].join("\n"),
  },
});
