import type { Value } from '../../runtime/tensor/value.js'

/* The syntax of TorchScript source, as trees. `at` is the place of the first character in the file. */

interface Place {
  readonly at: number
}

export type Expr =
  | (Place & { readonly kind: 'name'; readonly name: string })
  | (Place & { readonly kind: 'constant'; readonly value: Value })
  | (Place & { readonly kind: 'attribute'; readonly object: Expr; readonly name: string })
  | (Place & { readonly kind: 'call'; readonly callee: Expr; readonly args: readonly Expr[]; readonly keywords: readonly Keyword[] })
  | (Place & { readonly kind: 'subscript'; readonly object: Expr; readonly items: readonly Expr[] })
  | (Place & { readonly kind: 'slice'; readonly start: Expr | null; readonly stop: Expr | null; readonly step: Expr | null })
  | (Place & { readonly kind: 'tuple' | 'list'; readonly items: readonly Expr[] })
  | (Place & { readonly kind: 'dict'; readonly keys: readonly Expr[]; readonly values: readonly Expr[] })
  | (Place & { readonly kind: 'comprehension'; readonly key: Expr | null; readonly element: Expr; readonly loop: Loop })
  | (Place & { readonly kind: 'binary'; readonly operator: string; readonly left: Expr; readonly right: Expr })
  | (Place & { readonly kind: 'unary'; readonly operator: string; readonly operand: Expr })
  | (Place & { readonly kind: 'logical'; readonly operator: 'and' | 'or'; readonly left: Expr; readonly right: Expr })
  | (Place & { readonly kind: 'choice'; readonly condition: Expr; readonly then: Expr; readonly other: Expr })
  | (Place & { readonly kind: 'starred'; readonly value: Expr })

export interface Keyword {
  readonly name: string
  readonly value: Expr
}

/** `for target in source if condition` of a comprehension. */
export interface Loop {
  readonly target: Expr
  readonly source: Expr
  readonly condition: Expr | null
}

export type Stmt =
  | (Place & { readonly kind: 'assign'; readonly targets: readonly Expr[]; readonly type: Expr | null; readonly value: Expr })
  | (Place & { readonly kind: 'augment'; readonly target: Expr; readonly operator: string; readonly value: Expr })
  | (Place & { readonly kind: 'expression'; readonly value: Expr })
  | (Place & { readonly kind: 'if'; readonly condition: Expr; readonly then: readonly Stmt[]; readonly other: readonly Stmt[] })
  | (Place & { readonly kind: 'while'; readonly condition: Expr; readonly body: readonly Stmt[] })
  | (Place & { readonly kind: 'for'; readonly target: Expr; readonly source: Expr; readonly body: readonly Stmt[] })
  | (Place & { readonly kind: 'return'; readonly value: Expr | null })
  | (Place & { readonly kind: 'with'; readonly items: readonly WithItem[]; readonly body: readonly Stmt[] })
  | (Place & { readonly kind: 'assert'; readonly condition: Expr; readonly message: Expr | null })
  | (Place & { readonly kind: 'raise'; readonly error: Expr | null })
  | (Place & { readonly kind: 'delete'; readonly targets: readonly Expr[] })
  | (Place & { readonly kind: 'function'; readonly name: string; readonly body: readonly Stmt[] }) // what `fork` runs
  | (Place & { readonly kind: 'pass' | 'break' | 'continue' })

export interface WithItem {
  readonly context: Expr
  readonly target: Expr | null
}

export interface Parameter {
  readonly name: string
  readonly at: number
  /** null where it has none: `self`, or a Tensor. */
  readonly type: Expr | null
  readonly default: Expr | null
  readonly keywordOnly: boolean
}

export interface FunctionSyntax extends Place {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returns: Expr | null
  /** Parsed each time it is asked for, which is once: programs have functions that no method calls. */
  readonly body: () => readonly Stmt[]
}

/** `name : type = value` in a class, or one of both. */
export interface Member extends Place {
  readonly name: string
  readonly type: Expr | null
  readonly value: Expr | null
}

export interface ClassSyntax extends Place {
  readonly name: string
  /** `Module`, `NamedTuple`, `Enum`, `Interface`, `ModuleInterface`; '' for a plain class. */
  readonly base: string
  readonly members: readonly Member[]
  readonly methods: readonly FunctionSyntax[]
}
