/** Tells English from other languages by its most common words. */

const wordsIn = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/))

/** Common words of English that the other languages do not have. */
const english = wordsIn(`
  the and you your yours with that this these those have has having what they them their there from would could should which about
  will been being when where while were who how why my mine myself yourself are not his her hers she it its it's i'm i've i'll i'd
  don't doesn't didn't can't won't isn't aren't you're they're we're that's there's want wants wanted if but just like because than
  then into only our ours us does did done doing make made get got any some every other after before again very still for by out most
  such each few both between through during without within against think know need please may might must shall much many new now here
  also never always tell say said people yes
`)

/** Common words of German, Spanish, French, Italian, Portuguese, Dutch and Polish that English does not have. */
const others = wordsIn(`
  der das dem ein eine einen und ich nicht ist sind ihr sie mit auf von zu für im mir mich dich aber wie wenn auch nur noch es
  el la los las una y que de en lo se mi te tu yo por para con su pero más como muy está esta este esto eso todo ya
  le les des du et je il elle nous vous ne pas est ce cette qui dans sur pour avec mon mes mais moi toi sont
  gli che di è non sono io mio mia ti ci si più anche questo questa della nel nella ho
  os um uma eu não na da em com minha meu mas você ele ela são isso quero muito
  het een ik niet je van op dat zijn voor maar mijn aan er ook naar wat hij ze wij als om bij
  w z się nie jest że jak ja mnie ale co po od tak już tylko czy być
`)

/** Words of English that other languages have as well. They count as English only if the run has no word of another language. */
const shared = wordsIn('a an as at be do i in is no of on or so to we me he up go')

/** The least share of English words in a run, in which a shared word counts half. Misspelt English has fewer. */
const leastShare = 0.25
/** A run begins at every fourth word, so that a short statement between English words is not missed. */
const runWords = 8
const runStep = 4
/** A long word of a script without spaces is a clause. It counts as one word of another language per this many letters. */
const clauseLetters = 2

const sentence = /[^.!?;:\n\u061b\u061f\u06d4\u0964\u3002\uff01\uff1b\uff1f]+/gu
const word = /\p{L}[\p{L}\p{M}'’]*/gu
/** English has few such words, and a sentence with one has many others that are English. */
const accented = /[\u00c0-\u024f]/u
const otherScript = /[^\p{Script=Latin}\p{M}'’]/u

/**
 * The runs of words that are not known to be English, as sentences; empty if the whole text is English. A run without common words, such
 * as a name or a list, is among them.
 */
export function partsNotEnglish(text: string): string {
  const parts: string[] = []
  for (const [clause] of text.matchAll(sentence)) {
    const words = Array.from(clause.matchAll(word), ([found]) => found)
    const kept = wordsNotEnglish(words)
    if (kept.length > 0) parts.push(kept.join(' '))
  }
  return parts.join('. ')
}

function wordsNotEnglish(words: readonly string[]): readonly string[] {
  const isOther = words.map(() => false)
  for (let start = 0; start === 0 || start + runStep < words.length; start += runStep) {
    const run = words.slice(start, start + runWords)
    if (!isEnglishRun(run)) isOther.fill(true, start, start + run.length)
  }
  return words.filter((_, at) => isOther[at])
}

function isEnglishRun(run: readonly string[]): boolean {
  let englishWords = 0
  let sharedWords = 0
  let otherWords = 0
  for (const found of run) {
    const plain = found.toLowerCase().replaceAll('’', "'")
    if (english.has(plain)) englishWords += 1
    else if (shared.has(plain)) sharedWords += 1
    else if (otherScript.test(plain)) otherWords += Math.ceil(plain.length / clauseLetters)
    else if (others.has(plain) || accented.test(plain)) otherWords += 1
  }
  if (otherWords > 0) return englishWords > otherWords * 2
  return englishWords * 2 + sharedWords >= run.length * leastShare
}
