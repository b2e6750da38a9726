import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { time } from '../../kit/format.ts'
import { LeaveDialog } from '../../kit/leave-dialog.tsx'
import { ManagedNotice, Notice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { CasesView } from './cases-view.tsx'
import { Changes, useSave } from './changes.tsx'
import { ConfigForm, isAtField } from './config-form.tsx'
import { changesOf, cleaned } from './draft.ts'
import { JsonEditor } from './json-editor.tsx'
import { useSavedConfig, type GatewayConfig, type SavedConfig } from './queries.ts'
import { ReplayView } from './replay-view.tsx'
import { views } from './search.ts'
import { SimulatePane } from './simulate-pane.tsx'
import { Versions } from './versions.tsx'
import styles from './page.module.css'

const text = words.gateway

/** The gateway configuration: edited as a form or as JSON, compared with what is in force, tried on a text, saved. */
export function GatewayPage() {
  const saved = useSavedConfig()
  if (saved.isPending) return <LoadingRows widths={[120, 260]} />
  if (saved.isError)
    return <FailureState title={text.failed} error={saved.error} onRetry={() => void saved.refetch()} />
  return <Editor saved={saved.data} reload={async () => (await saved.refetch()).data} />
}

/** A change that is not saved yet, and the save that it was made to. */
type Draft = { readonly config: GatewayConfig; readonly seen: string | null }

type EditorProps = { readonly saved: SavedConfig; readonly reload: () => Promise<SavedConfig | undefined> }

function Editor({ saved, reload }: EditorProps) {
  const { view = 'form' } = useSearch({ from: '/gateway' })
  const navigate = useNavigate()
  const [draft, setDraft] = useState<Draft>()
  const seen = draft === undefined ? saved.updated_at : draft.seen
  const save = useSave(seen, () => setDraft(undefined))
  const shown = draft?.config ?? saved.config
  const config = cleaned(shown)
  const change = (changed: GatewayConfig): void => {
    if (!save.isIdle && !save.isPending) save.reset()
    setDraft({ config: changed, seen })
  }
  /** Keeps the changes, and compares them with what somebody else has saved. */
  const rebase = async (): Promise<void> => {
    const current = await reload()
    save.reset()
    if (current) setDraft({ config, seen: current.updated_at })
  }
  const isToldAtField = view === 'form' && isAtField(save.error)
  const openVersion = (version: GatewayConfig): void => {
    change(version)
    void navigate({ to: '/gateway', search: {} })
  }
  return (
    <div className={styles.page}>
      <TabLinks
        label={text.views.label}
        tabs={views.map((name) => ({
          name: text.views[name],
          link: { to: '/gateway', search: name === 'form' ? {} : { view: name } },
        }))}
      />
      <div className={styles.content}>
        <p className={styles.saved}>
          {text.version(saved.version)}
          {saved.updated_at !== null && ` · ${text.savedAt(time(Date.parse(saved.updated_at)))}`}
        </p>
        <ManagedNotice owner={saved.managed_by} />
        {saved.rolled_back && <Notice tone="warning">{text.rolledBack}</Notice>}
        {saved.warnings.map(({ code, message }) => (
          <Notice key={code} tone="warning">
            {message}
          </Notice>
        ))}
        <div className={styles.split}>
          <div className={styles.edit}>
            {view === 'form' && <ConfigForm config={shown} onChange={change} error={save.error} />}
            {view === 'json' && <JsonEditor key={draft === undefined ? seen : ''} config={config} onChange={change} />}
            {view === 'cases' && <CasesView config={config} />}
            {view === 'replay' && <ReplayView config={config} />}
            {view === 'versions' && <Versions current={saved.version} onOpen={openVersion} />}
          </div>
          <div className={styles.aside}>
            <SimulatePane config={config} inForce={saved.config} isToldAtField={isToldAtField} />
            <Changes
              saved={saved}
              config={config}
              seen={seen}
              save={save}
              isToldAtField={isToldAtField}
              onDiscard={() => setDraft(undefined)}
              onRebase={() => void rebase()}
            />
          </div>
        </div>
      </div>
      <LeaveDialog path="/gateway" isChanged={changesOf(saved.config, config).length > 0} />
    </div>
  )
}
