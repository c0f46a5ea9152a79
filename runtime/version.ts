import { arch } from './platform.js'

/** Version of the library, that of package.json. */
export const VERSION = '0.1.0'

/** What plans of a file are made for: kernels of other processors pack weights in other ways, at levels of the same names. */
export const PLAN_VERSION = arch === 'x64' ? VERSION : `${VERSION} for ${arch}`
