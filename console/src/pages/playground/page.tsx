import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { ChecksCard } from './checks-card.tsx'
import { CopyNotice } from './copy-notice.tsx'
import { bodyOf, emptyTexts, settingsOf, type Texts } from './draft.ts'
import { useActiveProjects, useModels } from './queries.ts'
import { RequestForm } from './request-form.tsx'
import { ResultCard } from './result-card.tsx'
import type { PlaygroundSearch } from './search.ts'
import { useRun } from './use-run.ts'
import styles from './page.module.css'

/** A request on the left; what the checks decide, and what the model answers, on the right. The address holds all but texts. */
export function PlaygroundPage() {
  const search: PlaygroundSearch = useSearch({ from: '/playground' })
  const navigate = useNavigate()
  const [texts, setTexts] = useState<Texts>(emptyTexts)
  const models = useModels()
  const projects = useActiveProjects()
  const maySend = useMay('playground:use')
  const settings = settingsOf(search, { model: models?.[0], project: projects?.[0]?.[0] })
  const set = (changed: PlaygroundSearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const running = useRun((request) => set({ request }))
  const body = bodyOf(settings, texts)
  const change = (changed: Partial<Texts>): void => setTexts({ ...texts, ...changed })
  return (
    <div className={styles.page}>
      {search.copy !== undefined && (
        <CopyNotice
          requestId={search.copy}
          onLoaded={(text) => {
            change({ turns: [{ role: 'user', text }] })
            set({ copy: undefined })
          }}
          onClose={() => set({ copy: undefined })}
        />
      )}
      {!maySend && <Notice tone="none">{words.playground.mayNotSend}</Notice>}
      <div className={styles.split}>
        <RequestForm
          form={{ settings, search, texts, models, projects }}
          onSet={set}
          onChange={change}
          isRunning={running.isRunning}
          onSend={maySend ? () => running.send({ settings, body }) : undefined}
          onStop={running.stop}
        />
        <div className={styles.results}>
          <ChecksCard settings={settings} texts={texts} search={search} onDraft={(draft) => set({ draft })} />
          <ResultCard running={running} settings={settings} body={body} search={search} />
        </div>
      </div>
    </div>
  )
}
