/** Paths of files mean nothing to a browser: what is read by an address is fetched. */
export const fileURLToPath = (url: string | URL): string => String(url)
export const pathToFileURL = (path: string): URL => new URL(path)
