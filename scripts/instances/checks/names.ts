/** The checks, in the order in which they are made. */
export const CHECK_NAMES = ['ready', 'thread', 'upload', 'model', 'run', 'cancel', 'front'] as const;
export type CheckName = (typeof CHECK_NAMES)[number];
