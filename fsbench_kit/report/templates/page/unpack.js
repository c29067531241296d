// Unpacks the program that draws charts, which is most of a page, and runs it.
globalThis.unpacked = async (element) => {
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
new Function(await unpacked(document.querySelector("#drawing")))();
