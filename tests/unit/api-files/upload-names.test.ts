import { isStagingName, numberedName, safeUploadName, stagingName } from '../../../api/files/upload-names';

test.each([
  ['report.pdf', 'report.pdf'],
  ['a/b/c.txt', 'c.txt'],
  ['../../x', 'x'],
  ['/etc/passwd', 'passwd'],
  ['.bashrc', '.bashrc'],
  ['sp ace ü [1].txt', 'sp ace ü [1].txt'],
  ['n'.repeat(255), 'n'.repeat(255)],
])('%s is stored as %s', (raw, stored) => {
  expect(safeUploadName(raw)).toBe(stored);
});

test.each([
  ['no name', undefined],
  ['an empty one', ''],
  ['the directory itself', '.'],
  ['its parent', '..'],
  ['a path that ends in nothing', 'a/'],
  ['a backslash', 'a\\b'],
  ['NUL', 'a\0b'],
  ['a line break', 'a\nb'],
  ['DEL', 'a\u007fb'],
  ['256 bytes in fewer characters', 'ü'.repeat(128)],
  ['the name of an upload under way', stagingName('x')],
])('%s is not safe', (_what, raw) => {
  expect(safeUploadName(raw)).toBeNull();
});

test.each([
  ['a.txt', 0, 'a.txt'],
  ['a.txt', 1, 'a_1.txt'],
  ['a.tar.gz', 2, 'a.tar_2.gz'],
  ['Makefile', 3, 'Makefile_3'],
  ['.bashrc', 1, '.bashrc_1'],
])('the next name of %s with number %i is %s', (name, number, expected) => {
  expect(numberedName(name, number)).toBe(expected);
});

test.each([`${'ü'.repeat(125)}.text`, 'n'.repeat(255), `a.${'x'.repeat(253)}`])(
  'a numbered name never gets longer than a file system takes',
  (name) => {
    const numbered = numberedName(name, 12);
    expect(Buffer.byteLength(numbered)).toBeLessThanOrEqual(255);
    expect(numbered).toContain('_12');
    expect(safeUploadName(numbered)).toBe(numbered);
  },
);

test('only names of uploads under way are taken for such', () => {
  expect([stagingName('1'), '.upload-1.txt', 'upload-1.part', 'a.part'].map(isStagingName)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
