/** The code of a failed file operation (`ENOENT`, …). Told by its shape, which is the same in every realm. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a path leads nowhere: a part is missing, no directory, a link to itself, or longer than the system allows. */
export function leadsNowhere(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(errorCode(error) ?? '');
}
