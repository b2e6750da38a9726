import styles from './marked-text.module.css'

/** A part of a text that a check acted on. */
export type TextMark = {
  readonly kind: string
  readonly name: string
  readonly start: number | null
  readonly end: number | null
}

type Segment = { readonly text: string; readonly mark?: TextMark | undefined }

/** A text with what the checks found in it, marked and named. */
export const MarkedText = ({ text, marks }: { readonly text: string; readonly marks: readonly TextMark[] }) => (
  <p className={styles.text} tabIndex={0}>
    {segmentsOf(text, marks).map(({ text: part, mark }, at) =>
      mark === undefined ? (
        part
      ) : (
        <mark key={at} title={`${mark.kind.replaceAll('_', ' ')}: ${mark.name}`}>
          {part}
          {isNamed(mark) && <small>{mark.name}</small>}
        </mark>
      ),
    )}
  </p>
)

/** A phrase is its own name; a kind of personal data or a category is not in the text. */
const isNamed = ({ kind }: TextMark): boolean => kind === 'personal_data' || kind === 'category'

/** The text in order, cut where marks start and end. Of overlapping marks the earlier one is shown. */
function segmentsOf(text: string, marks: readonly TextMark[]): Segment[] {
  const segments: Segment[] = []
  let at = 0
  for (const mark of marks.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))) {
    const { start, end } = mark
    if (start === null || end === null || start < at || end > text.length) continue
    segments.push({ text: text.slice(at, start) }, { text: text.slice(start, end), mark })
    at = end
  }
  return [...segments, { text: text.slice(at) }]
}
