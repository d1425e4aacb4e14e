/**
 * Who was started for a home, on disk: what a killed supervisor left behind is found here and ended by the next start.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './atomic-file';
import { endProcess, identifyProcess, isRunning, type ProcessIdentity } from './process-identity';

export interface ProcessRecord extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
}

export interface ProcessRecords {
  add(process: { name: string; pid: number; stopSignal: NodeJS.Signals }): void;
  remove(name: string): void;
  /** Ends every recorded process that still runs, and returns their names. */
  endLeftovers(options: { graceMs: number }): Promise<string[]>;
}

export function createProcessRecords(directory: string): ProcessRecords {
  mkdirSync(directory, { recursive: true });
  const pathOf = (name: string) => join(directory, `${name}.json`);
  return {
    add({ name, pid, stopSignal }) {
      const identity = identifyProcess(pid);
      if (identity) writeFileAtomically(pathOf(name), JSON.stringify({ ...identity, name, stopSignal }));
    },
    remove: (name) => rmSync(pathOf(name), { force: true }),
    async endLeftovers({ graceMs }) {
      const left = readRecords(directory).filter(isRunning);
      await Promise.all(left.map((record) => endProcess(record, { signal: record.stopSignal, graceMs })));
      for (const file of listRecords(directory)) rmSync(join(directory, file), { force: true });
      return left.map((record) => record.name);
    },
  };
}

function listRecords(directory: string): string[] {
  return readdirSync(directory).filter((file) => file.endsWith('.json'));
}

function readRecords(directory: string): ProcessRecord[] {
  return listRecords(directory).flatMap((file) => {
    try {
      const record = JSON.parse(readFileSync(join(directory, file), 'utf8')) as ProcessRecord;
      return typeof record.pid === 'number' && typeof record.started === 'string' ? [record] : [];
    } catch {
      // A record cut short by a full disk names nobody.
      return [];
    }
  });
}
