import { ERROR_CATALOGUE } from '../../contracts';
import { plain, readProjectFile, tableRows } from './project';

interface Documented {
  code: string;
  status: string;
  retryable: string;
}

const rows = tableRows(readProjectFile('docs/errors.md')).filter((row) => row.length === 5);
const documented = rows.map(([code, status, retryable]): Documented => ({
  code: plain(code),
  status: plain(status),
  retryable: plain(retryable),
}));

describe('docs/errors.md', () => {
  it('explains every error code, once, with the status and the retry rule that the code has', () => {
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { status, retryable }]): Documented => ({
      code,
      status: String(status),
      retryable: retryable ? 'yes' : 'no',
    }));
    const byCode = (left: Documented, right: Documented) => left.code.localeCompare(right.code);
    expect(documented.sort(byCode)).toEqual(catalogue.sort(byCode));
  });

  it('says of every code what it means and what to do about it', () => {
    const empty = rows.filter(([, , , meaning, advice]) => plain(meaning).length < 15 || plain(advice).length < 5);
    expect(empty.map(([code]) => code)).toEqual([]);
  });
});
