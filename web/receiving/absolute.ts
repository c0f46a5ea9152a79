/** An address as it is meant here: those of a worker are relative to its program. */
export function absolute(address: string | URL): string {
  const { document, location } = globalThis as {
    readonly document?: { readonly baseURI: string }
    readonly location?: { readonly href: string }
  }
  const base = document?.baseURI ?? location?.href
  return base === undefined ? String(address) : new URL(address, base).href
}
