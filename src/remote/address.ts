import { PtliteError } from '../../runtime/error.js'
import { env } from '../../runtime/platform.js'

/** A file on a server. */
export interface Address {
  readonly url: string
  /** What the server is told beside it. */
  readonly headers: Readonly<Record<string, string>>
  /** What messages call it: queries may be signatures. */
  readonly shown: string
}

const HUB = 'https://huggingface.co'

/** The address that a source is, undefined for paths and `file:` URLs. Throws INVALID_ARGUMENT for those of other kinds. */
export function addressIn(source: string | URL): Address | undefined {
  const scheme = typeof source === 'string' ? /^(https?|hf):\/\//i.exec(source)?.[1]?.toLowerCase() : source.protocol.slice(0, -1)
  if (scheme === 'hf') return onHub(String(source))
  if (scheme === 'http' || scheme === 'https') return at(source)
  if (scheme === undefined || scheme === 'file') return undefined
  throw new PtliteError('INVALID_ARGUMENT', `expected a file:, https:, http: or hf: URL, found ${scheme}:`)
}

function at(source: string | URL, headers: Record<string, string> = {}): Address {
  let url: URL
  try {
    url = new URL(source)
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `the address of the model: ${(cause as Error).message}`, { cause })
  }
  if (url.username !== '' || url.password !== '')
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `an address has no user name or password in it: \`await fetch(url, { headers: { authorization } })\` gives what loadModule() takes, too`,
    )
  url.hash = ''
  return { url: url.href, headers, shown: url.origin + url.pathname }
}

const FORM = /^hf:\/\/((?:datasets|spaces)\/)?([\w.-]+)\/([\w.-]+)(?:@([\w./%-]+?))?\/([^?#@]+)$/i

/**
 * hf://owner/repository/file, or hf://owner/repository@revision/file, as huggingface_hub names files; a slash in a revision is %2F. HF_TOKEN and
 * HF_ENDPOINT of the environment mean what they mean there.
 */
function onHub(text: string): Address {
  const [, kind = '', owner, repository, revision = 'main', file] = FORM.exec(text) ?? []
  const [names, branch] = reading(text, () => [file!.split('/').map(decodeURIComponent), decodeURIComponent(revision)] as const)
  if ([owner!, repository!, ...names, ...branch.split('/')].some((name) => /^\.{0,2}$/.test(name))) throw notOnHub(text)
  const path = names.map(encodeURIComponent).join('/')
  const endpoint = (env['HF_ENDPOINT'] || HUB).replace(/\/+$/, '')
  const token = env['HF_TOKEN']
  return at(
    `${endpoint}/${kind.toLowerCase()}${owner}/${repository}/resolve/${encodeURIComponent(branch)}/${path}`,
    token ? { authorization: `Bearer ${token.trim()}` } : {},
  )
}

function reading<T>(text: string, parts: () => T): T {
  try {
    return parts()
  } catch {
    throw notOnHub(text)
  }
}

function notOnHub(text: string): PtliteError {
  return new PtliteError(
    'INVALID_ARGUMENT',
    `expected hf://owner/repository/file or hf://owner/repository@revision/file, where a slash in the revision is %2F, found ${text}`,
  )
}
