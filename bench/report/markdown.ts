/** One benchmark's results as Markdown: a file beside the JSON, and a section of the document. */
import type { Result } from './result';
import { markdownTable, tableCells } from './table';
import { figure, peerDescription, peerTitle, peersOf } from './words';

export function resultFile(result: Result): string {
  return `${[`# ${result.name}: ${result.title}`, ...resultParagraphs(result)].join('\n\n')}\n`;
}

/** What a section about the benchmark says below its heading. */
export function resultParagraphs(result: Result): string[] {
  const peers = peersOf(result.rows);
  return [
    result.about,
    markdownTable(tableCells(result.rows)),
    ...(peers.length === 0 ? [] : [peers.map((name) => `- ${peerLine(result, name)}`).join('\n')]),
    ...(result.notes.length === 0 ? [] : [result.notes.map((note) => `- ${note}`).join('\n')]),
    ...result.broken.map((rule) => `**Broken:** ${rule}`),
    circumstances(result),
  ];
}

function peerLine(result: Result, name: string): string {
  const peer = peerDescription(name);
  if (peer === undefined) return name;
  const version = result.versions[peer.package];
  const called = version === undefined ? peer.package : `${peer.package} ${version}`;
  return `${peerTitle(name)} (${called}), ${peer.durable ? 'durable' : 'not durable'}: ${peer.keeps}`;
}

function circumstances({ repeats, date, machine, versions, quick }: Result): string {
  const times = repeats === 1 ? 'one repeat' : `median of ${repeats} repeats (minimum–maximum)`;
  const hardware = `${machine.processor}, ${machine.cores} cores, ${figure(machine.memoryGiB)} GiB, ${machine.system}`;
  const software = ['product', 'Node.js', 'PostgreSQL', 'Temporal server'].flatMap((name) =>
    versions[name] === undefined ? [] : [`${name} ${versions[name]}`],
  );
  const warning = quick ? ' Made with --quick: the figures mean nothing.' : '';
  return `Figures: ${times}, ${date.slice(0, 10)}. Machine: ${hardware}. Versions: ${software.join(', ')}.${warning}`;
}
