/** Cuts a text into the ids of word pieces, as BERT's uncased models read it. */
export type WordPiece = {
  /** The ids of a text, without the marks of its start and end. */
  encode(text: string): readonly number[]
  /** The mark before a text. */
  readonly start: number
  /** The mark after a text. */
  readonly end: number
}

/** Longer words count as unknown. */
const longestWord = 100

/** Characters without a place in a text: control and format characters, private use, lone surrogates, and those that replaced an unreadable one. */
const unreadable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu
const whitespace = /[\t\n\r]/g
const marks = /\p{Mn}/gu
/** The blocks of Han characters that the vocabulary was made with. Each character is a word. */
const han =
  '\\u{3400}-\\u{4DBF}\\u{4E00}-\\u{9FFF}\\u{F900}-\\u{FAFF}\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2B81F}\\u{2B920}-\\u{2CEAF}\\u{2F800}-\\u{2FA1F}'
/** Of the symbols only these count as punctuation, because they are in ASCII. */
const punctuation = '\\p{P}$+<=>^`|~'
const words = new RegExp(`[${punctuation}${han}]|[^\\s${punctuation}${han}]+`, 'gu')

/** The vocabulary has one piece per line; the number of the line is its id. Pieces within a word begin with `##`. */
export function createWordPiece(vocabulary: string): WordPiece {
  const { first, inner, longest } = readPieces(vocabulary)
  const special = (piece: string): number => {
    const id = first.get(piece)
    if (id === undefined) throw new Error(`The vocabulary has no ${piece}.`)
    return id
  }
  const unknown = special('[UNK]')

  /** Takes the longest piece at each position. A word that has a position without a piece is unknown. */
  const cut = (word: string): readonly number[] => {
    if (lengthOf(word) > longestWord) return [unknown]
    const ids: number[] = []
    for (let at = 0; at < word.length;) {
      const pieces = at === 0 ? first : inner
      let to = Math.min(word.length, at + longest)
      while (to > at && !pieces.has(word.slice(at, to))) to--
      if (to === at) return [unknown]
      ids.push(pieces.get(word.slice(at, to)) ?? unknown)
      at = to
    }
    return ids
  }

  return {
    start: special('[CLS]'),
    end: special('[SEP]'),
    encode: (text) => Array.from(plain(text).matchAll(words), ([word]) => cut(word)).flat(),
  }
}

/** In lower case and without accents. The capital sigma has one small letter here, wherever it is in a word. */
const plain = (text: string): string =>
  text
    .replaceAll(whitespace, ' ')
    .replaceAll(unreadable, '')
    .normalize('NFD')
    .replaceAll(marks, '')
    .replaceAll('Σ', 'σ')
    .toLowerCase()

/** In code points. */
const lengthOf = (word: string): number => (word.length <= longestWord ? word.length : [...word].length)

function readPieces(vocabulary: string) {
  const first = new Map<string, number>()
  const inner = new Map<string, number>()
  let longest = 0
  for (const [id, piece] of vocabulary.trimEnd().split('\n').entries()) {
    const isInner = piece.startsWith('##') && piece.length > 2
    const letters = isInner ? piece.slice(2) : piece
    ;(isInner ? inner : first).set(letters, id)
    longest = Math.max(longest, letters.length)
  }
  return { first, inner, longest }
}
