/** CPU time and memory of processes, read from /proc. Linux only. */
import { readFileSync, readdirSync } from 'node:fs';

/** What the kernel counts time in, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessStatus {
  pid: number;
  parent: number;
  /** Seconds of CPU, with those of children that ended and were waited for. */
  cpuSeconds: number;
}

/**
 * CPU seconds of the processes and of all their descendants since they started, ended children included. The
 * difference of two readings is what was used between them.
 */
export function cpuSeconds(roots: number | readonly number[]): number {
  return treeOf([roots].flat()).reduce((sum, status) => sum + status.cpuSeconds, 0);
}

/** Memory of one process without its children, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/** The most memory that the process ever had, in bytes. */
export function peakResidentBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

/** Memory of the processes and of all their descendants; what several of them share is counted once. */
export function treeBytes(roots: number | readonly number[]): number {
  return treeOf([roots].flat()).reduce((sum, { pid }) => sum + proportionalBytes(pid), 0);
}

/** The processes and all their descendants that run now. */
export function processTree(roots: readonly number[]): number[] {
  return treeOf(roots).map(({ pid }) => pid);
}

function treeOf(roots: readonly number[]): ProcessStatus[] {
  const all = allProcesses();
  const members = new Set(roots);
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

function allProcesses(): ProcessStatus[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const text = readIfThere(`/proc/${name}/stat`);
    return text === null ? [] : [parseStatus(text)];
  });
}

/** The line of `/proc/<pid>/stat`. The name of the program is in brackets and may hold anything. */
export function parseStatus(line: string): ProcessStatus {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place] ?? 0), 0);
  return { pid: Number.parseInt(line, 10), parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
}

function statusBytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  return kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), name) * 1024;
}

function proportionalBytes(pid: number): number {
  const rollup = readIfThere(`/proc/${pid}/smaps_rollup`);
  if (rollup !== null) return kilobytes(rollup, 'Pss') * 1024;
  const status = readIfThere(`/proc/${pid}/status`);
  return status === null ? 0 : kilobytes(status, 'VmRSS') * 1024;
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

/** Null for a process that is gone, or that belongs to another user. */
function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
