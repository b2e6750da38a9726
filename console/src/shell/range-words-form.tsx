import { useState, type SubmitEvent } from 'react'
import { Button } from '../kit/button.tsx'
import { timeSpan, zoneName } from '../kit/format.ts'
import { readRangeWords } from '../kit/range-words.ts'
import { timeZoneOf } from '../kit/zone.ts'
import { rangeNames, rangeSeconds, useZone, type TimeRangeSearch } from '../session/time-range.ts'
import { words } from '../words/en.ts'
import styles from './range-menu.module.css'

const text = words.range

/** A range in words, and below it how it is understood. */
export function RangeWords({ onRange }: { readonly onRange: (range: TimeRangeSearch) => void }) {
  const [typed, setTyped] = useState('')
  const nowMs = Date.now()
  const range = readRangeWords(typed, { nowMs, timeZone: timeZoneOf(useZone()) })
  const isUnknown = typed.trim() !== '' && range === undefined
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (range) onRange(presetOf(range, nowMs) ?? range)
  }
  return (
    <form className={styles.words} onSubmit={submit}>
      <div className={styles.line}>
        <input
          aria-label={text.words}
          aria-describedby="range-words"
          placeholder={text.wordsHint}
          value={typed}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={range === undefined}>
          {text.apply}
        </Button>
      </div>
      <p id="range-words" className={styles.note} role="status">
        {range && `${timeSpan(range.from * 1_000, range.to * 1_000)} ${zoneName(range.from * 1_000)}`}
        {isUnknown && text.notUnderstood}
      </p>
    </form>
  )
}

/** `last hour` is the preset, which goes on while time passes. */
function presetOf({ from, to }: { readonly from: number; readonly to: number }, nowMs: number) {
  if (Math.abs(to - nowMs / 1_000) > 1) return undefined
  const range = rangeNames.find((name) => Math.abs(to - from - rangeSeconds[name]) <= 1)
  return range && { range }
}
