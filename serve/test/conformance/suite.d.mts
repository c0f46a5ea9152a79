export interface Rule {
  readonly section: string
  readonly rule: string
}

export interface Result {
  readonly rule: Rule
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it is not passed. */
  readonly reason: string | undefined
}

export interface Options {
  readonly grpc?: string
  readonly model?: string
  readonly token?: string
  readonly changes?: boolean
  readonly stateful?: boolean
  readonly rules?: readonly Rule[]
}

export const RULES: readonly Rule[]
export function tryRules(url: string, options?: Options): Promise<Result[]>
