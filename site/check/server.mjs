// A server of the files below a directory, as any static server.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const types = { ".css": "text/css", ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml" };

// fileOf returns the file of a path, or undefined.
export function fileOf(directory, path) {
  let file = join(directory, normalize(decodeURIComponent(path)));
  let found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    file = join(file, "index.html");
    found = statSync(file, { throwIfNoEntry: false });
  }
  return found?.isFile() ? file : undefined;
}

// serve serves a directory below a path, at an address of this machine, and returns the URL and a function that ends it.
export async function serve(directory, below) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://server");
    const file = pathname.startsWith(below) ? fileOf(directory, pathname.slice(below.length - 1)) : undefined;
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: new URL(below, `http://127.0.0.1:${server.address().port}`), close: () => server.close() };
}
