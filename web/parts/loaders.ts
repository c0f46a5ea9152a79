/* What is known of the parts of the library for browsers. scripts/web/build.ts writes this file anew; a list of parts is a text with spaces. */

/** Loads each part. */
export const LOADERS: Readonly<Record<string, () => Promise<unknown>>> = {}

/** Parts that any model may come to when it is called. */
export const MODEL: string = ''

/** The compiler's. */
export const COMPILER: string = ''

/** Parts of readers, by the name of the format. */
export const FORMATS: Readonly<Record<string, string>> = {}

/** Parts that functions of the library come to, by their names. */
export const FUNCTIONS: Readonly<Record<string, string>> = {}
