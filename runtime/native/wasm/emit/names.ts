/* Where the import and the export of a generated module are found. */
export const IMPORT = { module: 'm', name: 'm' } as const
export const EXPORT = 'f'
