import { LineCounter, isNode, parseDocument } from 'yaml';

/** A fault of the file as `config.yaml:12: models[0].use: expected …`, with the line where it can be found. */
export function describeFault(message: string, bytes: Uint8Array | null): string {
  const syntax = /^(\S+): line (\d+): (.*)$/.exec(message);
  if (syntax !== null) return `${syntax[1]}:${syntax[2]}: ${syntax[3]}`;
  const [, file, key, problem] = /^(\S+): ([^\s:]+): (.*)$/.exec(message) ?? [];
  const line = key === undefined || bytes === null ? null : lineOfKey(bytes, key);
  return line === null ? message : `${file}:${line}: ${key}: ${problem}`;
}

/** Line of a dotted key such as `models[0].use`, or of the nearest key around it that is there. */
function lineOfKey(bytes: Uint8Array, key: string): number | null {
  const lineCounter = new LineCounter();
  const document = parseDocument(new TextDecoder().decode(bytes), { lineCounter, logLevel: 'silent' });
  const path = [...key.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
  }
  return null;
}
