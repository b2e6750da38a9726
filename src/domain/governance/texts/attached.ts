/** Texts that travel as files: in base64, some of them with `data:text/plain;base64,` before it. */

const label = /^data:[^,]{0,200},/
/** So much shows whether a file is a text. */
const glimpse = 4_096

/** The text of a file; undefined where it is none: a picture, a sound, a PDF. */
export function attachedText(data: string): string | undefined {
  const base64 = data.replace(label, '')
  // Its end may be cut in the middle of a letter.
  const head = decoded(base64.slice(0, glimpse)).slice(0, -1)
  const isText = !['\u0000', '\ufffd', '%PDF-'].some((sign) => head.includes(sign))
  return isText ? decoded(base64) : undefined
}

/** The same file with its text changed. */
export function changeAttached(data: string, change: (text: string) => string): string {
  const text = attachedText(data)
  const changed = text && change(text)
  if (changed === undefined || changed === text) return data
  return `${label.exec(data)?.[0] ?? ''}${Buffer.from(changed).toString('base64')}`
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
