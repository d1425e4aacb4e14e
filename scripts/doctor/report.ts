/** The doctor's findings, for people and for programs. */
import type { Finding } from './finding';
import { isHealthy } from './finding';

const MARKS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok',
  warning: 'warning',
  refused: 'REFUSED',
  not_active: 'not active',
  not_checked: 'not checked',
};

const WIDTH = Math.max(...Object.values(MARKS).map((mark) => mark.length));

export function textReport(findings: readonly Finding[]): string {
  const blocks = [...new Set(findings.map(({ about }) => about))].map((about) => {
    const lines = findings.filter((finding) => finding.about === about).map(findingText);
    return `${about}\n${lines.join('\n')}`;
  });
  return `${blocks.join('\n\n')}\n\n${verdict(findings)}\n`;
}

export function jsonReport(findings: readonly Finding[]): string {
  return `${JSON.stringify({ healthy: isHealthy(findings), findings }, null, 2)}\n`;
}

function findingText({ status, text, remedy }: Finding): string {
  const indent = ' '.repeat(WIDTH + 4);
  const advice = remedy === undefined ? '' : `\n${indent}-> ${remedy}`;
  return `  ${MARKS[status].padEnd(WIDTH)}  ${text}${advice}`;
}

function verdict(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const refused = count('refused');
  const warnings = count('warning');
  const tail = warnings === 0 ? '' : `; ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  if (refused === 0) return `Nothing would be refused${tail}.`;
  return `${refused} ${refused === 1 ? 'thing' : 'things'} would be refused${tail}. Mend what is marked REFUSED first.`;
}
