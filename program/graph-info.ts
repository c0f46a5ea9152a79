/** An argument of a node of a model's graph. */
export interface GraphArgument {
  /** As the schema has it; empty where none is known. */
  readonly name: string
  /** What is given, shortened: `%3` is the value of node 3, and of several nodes a list of them; constants are written out, `features.0.weight` is an attribute. */
  readonly text: string
  /** Numbers of the nodes that its values come from. */
  readonly from: readonly number[]
}

/** A step of a method: numbers of nodes are their places in `ModelGraph.nodes`. */
export interface GraphNode {
  /**
   * 'input': an argument of the method. 'call': of another function of the file. 'branch', 'loop': what decides on them. 'state': an attribute that is
   * set. 'output': what the method returns.
   */
  readonly kind: 'input' | 'operator' | 'call' | 'branch' | 'loop' | 'state' | 'output'
  /** `aten::conv2d`; of an input its name. */
  readonly name: string
  /** What it takes, in the order of its schema. */
  readonly args: readonly GraphArgument[]
  /** Types of the results: `Tensor`, or `float32[1, 3, 224, 224]` where sizes are known. */
  readonly results: readonly string[]
  /** Attributes that it reads: weights, buffers and packed weights. */
  readonly parameters: readonly string[]
  /** The instruction that it stands for; null for inputs, and for what a compiler made of several. */
  readonly place: { readonly function: string; readonly instruction: number } | null
  /** The source line that it comes from, where the file knows it. */
  readonly source: string | null
  /** This build has no such operator. */
  readonly missing: boolean
}

/** A method as steps and what they take from each other, in the order in which they run. */
export interface ModelGraph {
  /** They name each other by their places in it. */
  readonly nodes: readonly GraphNode[]
}

/** The source line in which a stack trace of TorchScript ends, without the pointer below it. */
export function lastSourceLine(trace: string | undefined): string | undefined {
  const lines = trace?.split('\n').filter((text) => /\S/.test(text) && !/^[\s~^]*(~|\^|<--- HERE)/.test(text.trim()))
  return lines?.at(-1)?.replace('<--- HERE', '').trim()
}
