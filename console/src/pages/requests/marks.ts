type Mark = { readonly kind: string; readonly name: string; readonly start: number; readonly end: number }

/** The marks of a part of a text, with positions in that part. One that crosses its border is cut there. */
export const marksWithin = (marks: readonly Mark[], from: number, to: number): readonly Mark[] =>
  marks
    .filter(({ start, end }) => start < to && end > from)
    .map((mark) => ({ ...mark, start: Math.max(mark.start, from) - from, end: Math.min(mark.end, to) - from }))
