/** Adds to a configuration what is new in the example. Pure: text in, text out; comments and values stay. */
import { isMap, isScalar, parseDocument } from 'yaml';
import type { Document, Pair, YAMLMap } from 'yaml';
import { AppError } from '../../contracts';

export interface Upgrade {
  /** Null where nothing has to be done. */
  text: string | null;
  from: number;
  to: number;
  /** Dotted keys that were added. */
  added: string[];
}

const OPTIONS = { version: '1.1', merge: true, keepSourceTokens: true } as const;
/** As often as a server that reads the file expands aliases. */
const MAX_ALIAS_COUNT = 1000;
/** Class paths of the first layout, which began with the folder of the source. */
const OLD_CLASS_PATH = /(["'\s])src\.(community|sandbox|models|tools)\./g;

export function upgradeConfig(own: string, example: string): Upgrade {
  const target = parse(example, 'config.example.yaml');
  const [from, to] = [versionOf(parse(own, 'The configuration')), versionOf(target)];
  if (from >= to) return { text: null, from, to, added: [] };
  const document = parse(from < 1 ? own.replaceAll(OLD_CLASS_PATH, '$1deerflow.$2.') : own, 'The configuration');
  if (document.contents === null) document.contents = document.createNode({});
  const added: string[] = [];
  if (isMap(document.contents) && isMap(target.contents)) {
    const known = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) as Values;
    addMissing({ own: document.contents, known, example: target.contents, prefix: '', added });
  }
  document.set('config_version', to);
  const text = document.toString({ lineWidth: 0 });
  return { text: own.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text, from, to, added };
}

function parse(text: string, name: string): Document {
  const document = parseDocument(text, OPTIONS);
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line;
    throw new AppError(
      'configuration',
      `${name} cannot be read: ${line === undefined ? '' : `line ${line}: `}mend it first.`,
    );
  }
  if (document.contents !== null && !isMap(document.contents)) {
    throw new AppError('configuration', `${name} is no mapping of keys to values.`);
  }
  return document;
}

function versionOf(document: Document): number {
  const version: unknown = document.get('config_version');
  return typeof version === 'number' && Number.isInteger(version) ? version : 0;
}

type Values = Readonly<Record<string, unknown>>;

interface Merge {
  own: YAMLMap;
  /** What the mapping says, keys that it takes from an anchor included. */
  known: Values;
  example: YAMLMap;
  prefix: string;
  added: string[];
}

/** Mappings are merged key by key; lists and values that are there stay as they are, also when they are null. */
function addMissing({ own, known, example, prefix, added }: Merge): void {
  // In braces the comments that come along would be hard to read.
  if (own.items.length === 0) own.flow = false;
  for (const pair of example.items) {
    const key = keyOf(pair);
    if (key === null) continue;
    const name = prefix === '' ? key : `${prefix}.${key}`;
    const present = own.items.find((item) => keyOf(item) === key);
    if (present !== undefined && isMap(present.value) && isMap(pair.value)) {
      addMissing({ own: present.value, known: known[key] as Values, example: pair.value, prefix: name, added });
    } else if (present === undefined && !(key in known) && name !== 'config_version') {
      own.add(pair);
      added.push(name);
    }
  }
}

function keyOf(pair: Pair): string | null {
  return isScalar(pair.key) && typeof pair.key.value === 'string' ? pair.key.value : null;
}
