// Files of tensors that lie beside the page as scripts, for a page from disk may read nothing else (lab/explorer/page.py).

/** The safetensors file that the script `name` puts into the global `variable`. */
export function beside(name, variable) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = name;
    script.onload = () => {
      script.remove();
      resolve(Uint8Array.from(atob(globalThis[variable]), (letter) => letter.charCodeAt(0)).buffer);
    };
    script.onerror = () => reject(new Error(`${name} is not beside this page`));
    document.head.append(script);
  });
}

/** { flat, tensors, told }: all float32 numbers of a safetensors file, where each tensor lies in them, and its metadata. */
export function safetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true)),
    { __metadata__: told, ...tensors } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return { flat: new Float32Array(buffer.slice(8 + length)), tensors, told };
}
