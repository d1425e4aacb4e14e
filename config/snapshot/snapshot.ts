/**
 * What a run keeps of the configuration that it began with. It is what the file says, so that `$NAME` stands where a
 * variable is used; a secret that the file holds itself is replaced by its place, and looked up there when it is used.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../contracts';
import { RESTART_KEYS } from '../../contracts/schemas/config';
import type { Config } from '../../contracts/schemas/config';
import type { EnvironmentVariables } from '../environment-variables';
import { withKeysOf } from '../live/startup-only';
import { referencedVariable } from '../interpolate';
import { configFromDocument } from '../load-config';
import type { ConfigDocument } from '../load-config';
import type { PlainValue } from '../parse-yaml';
import { isSecretSection, isSecretText } from './secret-text';

export interface ConfigSnapshot {
  /** SHA-256 of the body: equal configurations have one snapshot, whatever their secrets are. */
  hash: string;
  /** JSON without secrets. */
  body: string;
  /** Whether something has to be looked up before it can be used. */
  hasPlaces: boolean;
}

/** Stands for a secret that the file holds; no key of a configuration has this name. */
const PLACE_KEY = '$secret';
/** A secret is meant for these; it is not handed to another address that stands at its place by now. */
const RECEIVER_KEYS = ['base_url', 'api_base', 'endpoint', 'azure_endpoint', 'url', 'use'];

/**
 * What processes set up when they start is none of a run's: its own process has it. What the agent is told of the
 * sandbox is: it would see other folders in the middle of its work.
 */
const PROCESS_KEYS = RESTART_KEYS.filter((key) => key !== 'sandbox' && key !== 'skills.container_path');

type Visit = (text: string, at: { key: string; place: string; secret: boolean }) => PlainValue;

export function takeSnapshot(source: ConfigDocument): ConfigSnapshot {
  let hasPlaces = false;
  const stored = walk(
    withKeysOf(source, {}, PROCESS_KEYS),
    { key: '', place: '', secret: false },
    (text, { key, place, secret }) => {
      if (referencedVariable(text) !== null || !(secret || isSecretText(key, text))) return text;
      hasPlaces = true;
      return { [PLACE_KEY]: place };
    },
  );
  const body = JSON.stringify(stored);
  return { hash: createHash('sha256').update(body).digest('hex'), body, hasPlaces };
}

/** Names of the variables that stand for secrets in a configuration, whatever they are called. */
export function secretVariables(source: ConfigDocument): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source, { key: '', place: '', secret: false }, (text, { key, secret }) => {
    const name = referencedVariable(text);
    if (name !== null && (secret || isSecretText(key, text))) names.add(name);
    return text;
  });
  return names;
}

/**
 * The configuration that a snapshot was taken of, with the secrets of the one that is in force now, and without the
 * models of these names.
 *
 * Throws `AppError('configuration')`, which names the place, where a secret is no longer there or has become one for
 * another address.
 */
export function restoreSnapshot(
  body: string,
  newest: ConfigDocument,
  env: EnvironmentVariables,
  without: ReadonlyMap<string | null, unknown> = new Map(),
): Config {
  const { stored, problemOf, texts } = compare(body, newest);
  const models = modelsOf(stored).filter((entry) => !without.has(nameIn(entry)));
  const wanted = 'models' in stored ? { ...stored, models } : stored;
  for (const place of placesIn(wanted)) {
    const problem = problemOf(place);
    if (problem !== null) throw problem;
  }
  const source = fill(wanted, texts) as ConfigDocument;
  return configFromDocument(withKeysOf(source, newest, PROCESS_KEYS), env);
}

/**
 * The models of a snapshot whose secrets cannot be had any more, each with the error that says so; the one that runs
 * have which name none is also under null.
 */
export function lostModels(body: string, newest: ConfigDocument): ReadonlyMap<string | null, AppError> {
  const { stored, problemOf } = compare(body, newest);
  const lost = new Map<string | null, AppError>();
  modelsOf(stored).forEach((entry, index) => {
    const problem = placesIn(entry)
      .map(problemOf)
      .find((found) => found !== null);
    if (problem === undefined) return;
    lost.set(nameIn(entry), problem);
    if (index === 0) lost.set(null, problem);
  });
  return lost;
}

interface Comparison {
  stored: { [key: string]: PlainValue };
  /** The texts in force, by their places. */
  texts: ReadonlyMap<string, string>;
  /** Why the secret of a place cannot be used; null where it can. */
  problemOf: (place: string) => AppError | null;
}

function compare(body: string, newest: ConfigDocument): Comparison {
  const stored = JSON.parse(body) as Comparison['stored'];
  const texts = textsByPlace(newest);
  const receivers = textsByPlace(fill(stored, texts) as ConfigDocument);
  return {
    stored,
    texts,
    problemOf: (place) =>
      texts.has(place) ? otherReceiver(place, receivers, texts) : missing(place, 'is no longer there'),
  };
}

function modelsOf({ models }: Comparison['stored']): PlainValue[] {
  return Array.isArray(models) ? models : [];
}

function otherReceiver(
  place: string,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): AppError | null {
  for (let parent = parentOf(place); parent !== ''; parent = parentOf(parent)) {
    for (const key of RECEIVER_KEYS) {
      const receiver = `${parent}.${key}`;
      if (receiver !== place && before.get(receiver) !== now.get(receiver)) {
        return missing(place, `is for another ${key} now`);
      }
    }
  }
  return null;
}

function parentOf(place: string): string {
  return place.slice(0, Math.max(place.lastIndexOf('.'), 0));
}

function missing(place: string, what: string): AppError {
  return new AppError('configuration', `config.yaml: ${place}: this run began with a secret that ${what}`);
}

/** Each text by its place. Entries of lists go by their names, so that others may come and go before them. */
function textsByPlace(source: ConfigDocument): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  walk(source, { key: '', place: '', secret: false }, (text, { place }) => {
    texts.set(place, text);
    return text;
  });
  return texts;
}

function walk(value: PlainValue, at: { key: string; place: string; secret: boolean }, visit: Visit): PlainValue {
  if (typeof value === 'string') return visit(value, at);
  if (Array.isArray(value)) {
    const names = new Set<string>();
    return value.map((item, index) =>
      walk(item, { ...at, place: `${at.place}[${nameOf(item, index, names)}]` }, visit),
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  // In order, so that two files that say the same have one snapshot.
  const keys = Object.keys(value).sort();
  return Object.fromEntries(
    keys.map((key) => {
      const place = at.place === '' ? key : `${at.place}.${key}`;
      return [key, walk(value[key] ?? null, { key, place, secret: at.secret || isSecretSection(key) }, visit)];
    }),
  );
}

/** The first entry of a name has it; another one is known by where it is. */
function nameOf(item: PlainValue, index: number, taken: Set<string>): string {
  const name = nameIn(item);
  if (name === null || taken.has(name)) return String(index);
  taken.add(name);
  return name;
}

function nameIn(item: PlainValue): string | null {
  const name = typeof item === 'object' && item !== null && !Array.isArray(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : null;
}

function placeOf(value: PlainValue): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const place = value[PLACE_KEY];
  return typeof place === 'string' ? place : null;
}

/** With the texts of its places; one that is not there is left empty. */
function fill(value: PlainValue, texts: ReadonlyMap<string, string>): PlainValue {
  const place = placeOf(value);
  if (place !== null) return texts.get(place) ?? '';
  if (Array.isArray(value)) return value.map((item) => fill(item, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, texts)]));
}

function placesIn(value: PlainValue): string[] {
  const place = placeOf(value);
  if (place !== null) return [place];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placesIn) : [];
}
