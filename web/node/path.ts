/** What the library uses of node:path, on the paths of URLs. */
export const basename = (path: string): string => path.replace(/^.*\//, '')
export const dirname = (path: string): string => path.replace(/\/?[^/]*$/, '') || (path.startsWith('/') ? '/' : '.')
export const join = (...parts: string[]): string => parts.join('/')
export const resolve = (path: string): string => path
export const relative = (_from: string, to: string): string => to
