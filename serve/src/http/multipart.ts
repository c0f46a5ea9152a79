import { invalid } from '../protocol/error.js'

/** A field of a form: text, or a file. */
export interface FormPart {
  readonly name: string
  /** null: it is no file. */
  readonly fileName: string | null
  readonly data: Buffer
}

/** Parts of a form, at most: there are fewer fields than these. */
const MOST_PARTS = 64
/** Bytes of the headers of a part. */
const MOST_HEADER = 8192
const BREAK = Buffer.from('\r\n')
const EMPTY_LINE = Buffer.from('\r\n\r\n')

/** The fields of a body in `multipart/form-data` (RFC 7578), which stay in its memory. Throws where it is none. */
export function formOf(contentType: string | undefined, body: Buffer): FormPart[] {
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '')
  if (boundary === null) throw invalid('expected a form: Content-Type: multipart/form-data; boundary=…')
  const mark = Buffer.from(`--${boundary[1] ?? boundary[2]!}`)
  const between = Buffer.concat([BREAK, mark])
  const parts: FormPart[] = []
  let at = body.indexOf(mark)
  if (at < 0) throw invalid('the form has no part that its boundary begins')
  at += mark.length
  for (;;) {
    if (body.subarray(at, at + 2).toString('latin1') === '--') return parts
    if (parts.length === MOST_PARTS) throw invalid(`the form has more than ${MOST_PARTS} fields`)
    const head = body.indexOf(EMPTY_LINE, at)
    if (head < 0 || head - at > MOST_HEADER) throw invalid('the form has a part without an end of its headers')
    const start = head + EMPTY_LINE.length
    const end = body.indexOf(between, start)
    if (end < 0) throw invalid('the form is cut off')
    parts.push({ ...namesOf(body.subarray(at, head).toString('utf8')), data: body.subarray(start, end) })
    at = end + between.length
  }
}

function namesOf(head: string): Pick<FormPart, 'name' | 'fileName'> {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1] ?? ''
  const valueOf = (key: string): string | null => {
    const found = new RegExp(`(?:^|;)\\s*${key}=(?:"([^"]*)"|([^\\s;"]+))`, 'i').exec(disposition)
    return found === null ? null : (found[1] ?? found[2]!)
  }
  const name = valueOf('name')
  if (name === null) throw invalid('the form has a part without a name')
  return { name, fileName: valueOf('filename') }
}
