/** What a model may be called: it stands in addresses, labels of metrics and paths. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const VERSION = /^[1-9][0-9]{0,17}$/

/** Formats that the library reads, by how files of them are usually named; the content decides. */
const MODEL_FILE = /\.(?:ptlc|ptl|ff|pt2|bpte|pte|pt|pth)$/i

export function isModelName(name: string): boolean {
  return NAME.test(name) && !name.includes('..')
}

export function isVersion(name: string): boolean {
  return VERSION.test(name)
}

export function isModelFile(name: string): boolean {
  return MODEL_FILE.test(name) && !name.startsWith('.')
}

export function withoutExtension(name: string): string {
  return name.replace(MODEL_FILE, '')
}

/** Versions are numbers of any length. */
export function compareVersions(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
