import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { ChecksCard } from './checks-card.tsx'
import { CopyNotice } from './copy-notice.tsx'
import { bodyOf, emptyTexts, settingsOf, type Settings, type Texts } from './draft.ts'
import { EvaluatedCard } from './evaluated-card.tsx'
import { useActiveProjects, useModels, useRuleChoices } from './queries.ts'
import { RequestForm } from './request-form.tsx'
import type { Restored } from './restore.ts'
import { ResultCard } from './result-card.tsx'
import type { PlaygroundSearch } from './search.ts'
import { namedSides, type NamedSide } from './sides.ts'
import { useRun } from './use-run.ts'
import styles from './page.module.css'

/**
 * A request, what the checks decide about it, and what the model answers; two of them beside each other if they are compared.
 * The address holds all but texts.
 */
export function PlaygroundPage() {
  const search: PlaygroundSearch = useSearch({ from: '/playground' })
  const navigate = useNavigate()
  const [texts, setTexts] = useState<Texts>(emptyTexts)
  const [restored, setRestored] = useState<Restored>()
  const models = useModels()
  const projects = useActiveProjects()
  const mayCheck = useMayCheck()
  const rules = useRuleChoices(mayCheck)
  const maySend = useMay('playground:use')
  const settings = settingsOf(search, { model: models?.[0], project: projects?.[0]?.[0] })
  const sides = namedSides(search, settings.model, rules)
  const set = (changed: PlaygroundSearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const running = useRun((request) => set({ request }))
  const second = useRun((request) => set({ request_b: request }))
  const change = (changed: Partial<Texts>): void => setTexts({ ...texts, ...changed })
  const isTwice = sides[1] !== undefined && sides[1].rules === undefined
  const compared = useRef<HTMLDivElement>(null)
  const send = (): void => {
    compared.current?.scrollIntoView({ block: 'nearest' })
    const call = (model: string) => {
      const own = { ...settings, model }
      return { settings: own, body: bodyOf(own, texts), texts, search }
    }
    running.send(call(settings.model))
    if (isTwice && sides[1]) second.send(call(sides[1].model))
  }
  const results = { sides, settings, texts, search, runs: [running, second] as const }
  return (
    <div className={styles.page}>
      {search.copy !== undefined && (
        <CopyNotice
          requestId={search.copy}
          restored={restored}
          gone={goneFrom(settings, { models, projects })}
          onLoaded={(loaded) => {
            setTexts(loaded.texts)
            setRestored(loaded)
            if (loaded.maxTokens !== undefined) set({ max_tokens: loaded.maxTokens })
          }}
          onClose={() => set({ copy: undefined })}
        />
      )}
      {!maySend && <Notice tone="none">{words.playground.mayNotSend}</Notice>}
      <div className={styles.split}>
        <RequestForm
          form={{ settings, search, texts, models, projects, rules }}
          onSet={set}
          onChange={change}
          isRunning={running.isRunning || (isTwice && second.isRunning)}
          onSend={maySend ? send : undefined}
          onStop={() => {
            running.stop()
            second.stop()
          }}
        />
        <div className={styles.results}>
          <ChecksCard mayCheck={mayCheck} settings={settings} texts={texts} search={search} sides={sides} />
          {sides[1] === undefined && <Results {...results} />}
        </div>
        {sides[1] !== undefined && (
          <div ref={compared} className={styles.sides}>
            <Results {...results} />
          </div>
        )}
      </div>
    </div>
  )
}

function useMayCheck(): boolean {
  const mayReadPolicies = useMay('policies:read')
  const mayReadGateway = useMay('gateway:read')
  return mayReadPolicies && mayReadGateway
}

type ResultsProps = {
  readonly sides: readonly [NamedSide, NamedSide?]
  readonly settings: Settings
  readonly texts: Texts
  readonly search: PlaygroundSearch
  readonly runs: readonly [ReturnType<typeof useRun>, ReturnType<typeof useRun>]
}

/** One card a side: the request to its model, or the request in force checked with other rules. */
const Results = ({ sides: [first, second], settings, texts, search, runs }: ResultsProps) =>
  [first, second].map((side, at) => {
    if (side === undefined) return null
    const isSecondModel = at === 1 && side.rules === undefined
    const running = runs[isSecondModel ? 1 : 0]
    const requestId = isSecondModel ? search.request_b : search.request
    if (side.rules !== undefined) return <EvaluatedCard key={at} side={side} running={running} requestId={requestId} />
    const own = { ...settings, model: side.model }
    return (
      <ResultCard
        key={at}
        name={second === undefined ? undefined : side.name}
        running={running}
        requestId={requestId}
        settings={own}
        body={bodyOf(own, texts)}
        search={search}
      />
    )
  })

type Offered = {
  readonly models: readonly string[] | undefined
  readonly projects: readonly (readonly [string, string])[] | undefined
}

/** What a request of the log had and the form does not offer. */
function goneFrom({ model, project }: Settings, { models, projects }: Offered): readonly string[] {
  const text = words.playground.again
  return [
    ...(models === undefined || models.includes(model) ? [] : [text.goneModel(model)]),
    ...(projects === undefined || projects.some(([id]) => id === project) ? [] : [text.goneProject]),
  ]
}
