// What can be taken along: the picture as SVG or PNG, the drawn numbers as CSV.

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const text = (chart) => new XMLSerializer().serializeToString(chart.svg);

export const saveSvg = (chart, name) => download(`${name}.svg`, new Blob([text(chart)], { type: "image/svg+xml" }));

/** The picture at three pixels a point, sharp enough for print. */
export async function savePng(chart, name) {
  const image = new Image(),
    canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(chart))}`;
  await image.decode();
  canvas.width = 3 * chart.svg.width.baseVal.value;
  canvas.height = 3 * chart.svg.height.baseVal.value;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
}

/** Columns {name: numbers}; every digit is kept, so that the file gives back the drawn numbers exactly. */
export function saveCsv(columns, name) {
  const names = Object.keys(columns),
    length = Math.max(...Object.values(columns).map((values) => values.length));
  const quoted = (word) => (/[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);
  const rows = [names.map(quoted).join(",")];
  for (let i = 0; i < length; i++) rows.push(names.map((column) => columns[column][i] ?? "").join(","));
  download(`${name}.csv`, new Blob([`${rows.join("\n")}\n`], { type: "text/csv" }));
}
