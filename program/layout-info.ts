/** How often a program calls an operator, or has a node of a kind. */
export interface CallCount {
  /** `aten::add.out`; of a graph that a backend runs the kind of the node. */
  readonly name: string
  readonly calls: number
}

/** A part of a method that the exporter gave to a backend. */
export interface PartitionInfo {
  /** The name that the file has for it: `XnnpackBackend`. */
  readonly backend: string
  /** How often the method calls it. */
  readonly calls: number
  /** Of what the backend is given for it, without constants that are elsewhere. */
  readonly bytes: number
  /** Its nodes by kind, most frequent first; empty for backends whose graphs are not read. */
  readonly nodes: readonly CallCount[]
}

/** What a file says of a method that its exporter has planned. */
export interface MethodLayout {
  /** Without its class: `forward`. */
  readonly name: string
  /** Operators that it calls itself, outside of partitions, most frequent first. */
  readonly operators: readonly CallCount[]
  readonly partitions: readonly PartitionInfo[]
  /** Bytes of the memories that its tensors are planned in, from number 1. */
  readonly memories: readonly number[]
  /** Why it cannot be run here; null where it can, as far as backends go. */
  readonly refusal: string | null
}

/** A part of a file beside its code. */
export interface SectionInfo {
  /** What is in it: `constants`; `data KEY` for what has a name. */
  readonly name: string
  readonly bytes: number
}

/** How a file lays its program out: of files whose exporter has planned memory and given parts to backends. */
export interface LayoutInfo {
  /** Of the file's format, by what they are of. */
  readonly versions: Readonly<Record<string, number | string>>
  readonly methods: readonly MethodLayout[]
  /** In the order of the file. */
  readonly sections: readonly SectionInfo[]
  /** Of constants, data by name and what backends are given. */
  readonly dataBytes: number
}
