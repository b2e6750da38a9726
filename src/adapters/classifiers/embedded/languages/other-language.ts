/** Finds the sentences of a text that may be in another language than English, in one cheap pass over its characters. */
import { isAscii } from '../../../../domain/scan/normalise/normalise.ts'

/** Common words of other languages in plain Latin letters that English does not have. */
const commonWords = `
  will das was nur war sterben leben
  der das dem den ein eine einen und ich nicht ist sind ihr sie mit auf von zu mir mich dich aber wie wenn auch noch bin hab habe kann
  el la las los una que lo se mi te tu yo para su pero como esta este esto eso todo ya quiero le du et je il elle nous vous ne pas ce
  cette qui dans sur avec mon mes mais moi toi sont suis veux gli che di non sono io mio mia ti ci si anche questo questa della nel nella
  ho voglio um uma eu na em minha meu mas ela isso quero muito nao het een ik niet je dat zijn voor maar mijn aan er ook naar wat hij ze wij
  als om bij wil meer nie jest ze jak ja mnie ale co tak tylko czy bede mam moje bir bu ve ben beni bana cok ama daha gibi kadar yok
  istiyorum degil artik hai hoon hun mujhe nahi nahin mera meri kya ko ki ka aur ya chto na eto menya mne hochu
`

/** A sentence counts if at least one in this many words is known or has an accent. */
const mostWordsPerHit = 12
/** A longer sentence is judged in parts of this many words, because many texts have no punctuation. */
const wordsPerPart = 48
/** One word of fewer letters is not enough: `io` is Italian, and the end of a file name. */
const fewestLetters = 5
/** A shorter sentence is read with the next one. */
const fewestWords = 3
const longestWord = 10

const prime = 0x01000193
const wordHashes = new Set(commonWords.trim().split(/\s+/).map(hashOf))
/** A bit per hash, because most words are none of these. */
const bits = new Int32Array(128)
for (const hash of wordHashes) bits[(hash >>> 5) & 127] = (bits[(hash >>> 5) & 127] ?? 0) | (1 << (hash & 31))

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), prime)
  return hash
}

const isCommonWord = (hash: number): boolean =>
  ((bits[(hash >>> 5) & 127] ?? 0) & (1 << (hash & 31))) !== 0 && wordHashes.has(hash)

/** Also semicolons and line ends, because lists and chats have no full stops. */
const isSentenceEnd = (code: number): boolean =>
  code < 128 ? code === 0x2e || code === 0x21 || code === 0x3f || code === 0x0a || code === 0x3b : otherEnds.has(code)
const otherEnds = new Set(
  Array.from('\u061b\u061f\u06d4\u0964\u2026\u3002\uff01\uff1b\uff1f', (end) => end.charCodeAt(0)),
)

const isAccented = (code: number): boolean => code >= 0xc0 && code < 0x250
/** Cyrillic, Arabic, Devanagari, and Chinese and Japanese: the other scripts that the model has learnt. */
const isOtherScript = (code: number): boolean =>
  (code >= 0x400 && code < 0x530) ||
  (code >= 0x600 && code < 0x700) ||
  (code >= 0x900 && code < 0x980) ||
  (code >= 0x3040 && code < 0xa000)
/** Letters of Chinese and Japanese. Each counts as a word. */
const isUnspaced = (code: number): boolean => code >= 0x3040 && code < 0xa000

/** Invisible characters inside words, and letters that have another form. */
const hidden = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u0300-\u036f\uff00-\uffef]/u
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

const visibleForm = (text: string): string =>
  isAscii(text) || !hidden.test(text) ? text : text.normalize('NFKC').replace(invisible, '')

/** The sentences in their visible form. Of a long sentence, the parts in another language and the next one are enough. */
export function sentencesInOtherLanguages(source: string): readonly string[] {
  const text = visibleForm(source)
  const found: string[] = []
  let start = 0
  let hasOtherPart = false
  let words = 0
  let hits = 0
  let hash = 0
  let length = 0
  let hasAccent = false

  const endWord = (): void => {
    if (length === 0) return
    words += 1
    if (hasAccent) hits += 2
    else if (length <= longestWord && isCommonWord(hash)) hits += length >= fewestLetters ? 2 : 1
    hash = 0
    length = 0
    hasAccent = false
  }

  const isOther = (): boolean => hits >= 2 && hits * mostWordsPerHit >= words

  const endSentence = (next: number): void => {
    if (hasOtherPart || isOther()) found.push(text.slice(start, next))
    start = next
    hasOtherPart = false
    words = hits = 0
  }

  const endPart = (next: number): void => {
    if (!isOther()) return endSentence(next)
    hasOtherPart = true
    words = hits = 0
  }

  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const lower = code | 0x20
    if (lower >= 97 && lower <= 122 && code < 128) {
      hash = Math.imul(hash ^ lower, prime)
      length += 1
    } else if (code >= 128 && (isAccented(code) || isOtherScript(code)) && !isSentenceEnd(code)) {
      hasAccent = true
      length += 1
      if (isUnspaced(code)) endWord()
    } else {
      endWord()
      if (isSentenceEnd(code) && (hasOtherPart || words >= fewestWords)) endSentence(at + 1)
      else if (words >= wordsPerPart) endPart(at + 1)
    }
  }
  endWord()
  endSentence(text.length)
  return found
}
