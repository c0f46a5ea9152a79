import type * as ptlite from '../../src/index.js'

/** What a program is run with: the library from its source, or the one for browsers. */
export type Library = Pick<typeof ptlite, 'callOperator' | 'float' | 'int' | 'loadModule' | 'PtliteError' | 'Tensor' | 'tuple'>
