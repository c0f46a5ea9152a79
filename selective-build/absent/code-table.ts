import type * as whole from '../../runtime/native/wasm/code-table.js'

/** Code is generated for compiled calls alone. */
export class CodeTable implements Pick<whole.CodeTable, 'generate' | 'discard' | 'totals' | 'settled'> {
  constructor(_exports: unknown) {}

  generate(): number {
    return 0
  }

  discard(): void {}

  totals(): ReturnType<whole.CodeTable['totals']> {
    return { isOn: false, functions: 0, bytes: 0 }
  }

  settled(): Promise<void> {
    return Promise.resolve()
  }
}
