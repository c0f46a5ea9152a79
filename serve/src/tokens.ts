import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether the value of `Authorization` names one of the tokens, in a time that says nothing of them. null: everybody may. */
export function allowedBy(tokens: readonly string[] | null): (authorization: string | undefined) => boolean {
  if (tokens === null) return () => true
  const digests = tokens.map(digestOf)
  return (authorization) => {
    const token = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) return false
    const digest = digestOf(token)
    return digests.reduce((found, each) => timingSafeEqual(each, digest) || found, false)
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
