/** Faults of a YAML document that the parser does not look for, or in a time that grows with the square of its keys. */
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, visit } from 'yaml';
import type { Document, LineCounter, Node, YAMLMap } from 'yaml';

export interface YamlFault {
  /** From 1; null where that cannot be told. */
  line: number | null;
  /** Names keys and anchors, never values: those may be secrets. */
  problem: string;
}

/** What follows the star is not repeated: it may be a password that nobody put into quotes. */
const UNKNOWN_ALIAS = 'a value that begins with * stands for an anchor above it, and there is none; put it into quotes';

/** The first fault, or null. */
export function findFault(document: Document, lines: LineCounter): YamlFault | null {
  const anchored = new Map<string, Node>();
  let found: YamlFault | null = null;
  visit(document, (_place, part) => {
    if (isNode(part) && !isAlias(part) && part.anchor !== undefined) anchored.set(part.anchor, part);
    if (isAlias(part) && !anchored.has(part.source)) {
      found = { line: lineOf(part, lines), problem: UNKNOWN_ALIAS };
    } else if (isMap(part)) {
      found = faultyKey(part, lines);
    } else if (isPair(part) && isMergeKey(part.key) && !isMergeable(part.value, anchored)) {
      found = { line: lineOf(part.key, lines), problem: '<<: expected a mapping, or a list of mappings' };
    }
    return found === null ? undefined : visit.BREAK;
  });
  return found;
}

function faultyKey(map: YAMLMap, lines: LineCounter): YamlFault | null {
  const seen = new Map<string, unknown>();
  for (const { key } of map.items) {
    if (isMergeKey(key)) continue;
    const value = isScalar(key) ? key.value : null;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return { line: lineOf(key, lines) ?? lineOf(map, lines), problem: 'expected a word as a key' };
    }
    const name = String(value);
    if (seen.has(name)) {
      const before = lineOf(seen.get(name), lines);
      return { line: lineOf(key, lines), problem: `${name}: expected each key once, line ${before ?? '?'} has it too` };
    }
    seen.set(name, key);
  }
  return null;
}

/** The parser gives the key `<<` a symbol. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}

function isMergeable(value: unknown, anchored: ReadonlyMap<string, Node>): boolean {
  const target = (source: unknown) => (isAlias(source) ? (anchored.get(source.source) ?? source) : source);
  const whole = target(value);
  const sources: unknown[] = isSeq(whole) ? whole.items : [whole];
  // An alias without an anchor is a fault of its own.
  return sources.map(target).every((source) => isMap(source) || isAlias(source));
}

function lineOf(node: unknown, lines: LineCounter): number | null {
  return isNode(node) && node.range ? lines.linePos(node.range[0]).line : null;
}
