/** The paths that a server answers, with the methods of each. */
export class KnownRoutes {
  private readonly methods = new Map<string, Set<string>>()

  /** `path` as fastify writes it: `/v2/models/:model`. */
  add(method: string | readonly string[], path: string): void {
    const known = this.methods.get(path) ?? new Set()
    for (const each of [method].flat()) known.add(each)
    this.methods.set(path, known)
  }

  /** Methods that are taken where `path` leads; none where it leads nowhere. */
  methodsOf(path: string): string[] {
    const found = new Set<string>()
    for (const [route, methods] of this.methods) if (fits(route, path)) for (const method of methods) found.add(method)
    return [...found].sort()
  }
}

function fits(route: string, path: string): boolean {
  const [wanted, parts] = [route.split('/'), path.split('/')]
  return wanted.length === parts.length && wanted.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]))
}
