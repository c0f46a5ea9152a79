export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly [field: string]: unknown
}

export class Schemas {
  add(path: string): void
  faults(manifest: Manifest): string[] | undefined
}

export function documentsOf(path: string): unknown[]
export function manifests(): { readonly file: string; readonly manifest: Manifest }[]
