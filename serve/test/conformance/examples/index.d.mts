export interface Tried {
  readonly example: { readonly section: string; readonly rule: string }
  readonly fault: string | undefined
}

export function tryExamples(url: string, address: string): Promise<Tried[]>
