import { useNavigate } from '@tanstack/react-router'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { Bones, FailureState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { CheckCard } from './check-card.tsx'
import { ClosestCard } from './closest-card.tsx'
import { OverridesCard } from './overrides-card.tsx'
import { useLimits } from './queries.ts'
import { ScopeBars } from './scope-bars.tsx'
import type { LimitsSearch } from './search.ts'
import { SubjectSelect } from './subject-select.tsx'
import pageStyles from './page.module.css'
import styles from './scopes.module.css'

const text = words.limits
/** Of a card with the five limits of a scope. */
const cardHeight = 218
const scopes = ['organization', 'project', 'key'] as const

/** The limits of the three scopes, who is close to one, and which of them replace the tier's. */
export function LimitsOfScopes({ search }: { readonly search: LimitsSearch }) {
  const { project_id: projectId, api_key_id: keyId } = search
  const limits = useLimits({ project_id: projectId, api_key_id: keyId })
  const projects = useProjectNames()
  const keys = useKeyNames()
  const ofKey = keyId === undefined ? text.anyProject : text.projectOfKey
  const names = {
    organization: '',
    project: projectId === undefined ? ofKey : (projects.get(projectId) ?? projectId),
    key: keyId === undefined ? text.anyKey : (keys.get(keyId) ?? keyId),
  }
  return (
    <>
      <ChooseSubject search={search} />
      {limits.isPending && (
        <div className={styles.scopes}>
          {scopes.map((scope) => (
            <Bones key={scope} height={cardHeight} />
          ))}
        </div>
      )}
      {limits.isError && (
        <FailureState title={text.limitsFailed} error={limits.error} onRetry={() => void limits.refetch()} />
      )}
      {limits.data && (
        <div className={styles.scopes}>
          {scopes.map((scope) => (
            <Card
              key={scope}
              title={text.scopes[scope]}
              note={scope === 'organization' ? text.tier(limits.data.tier, limits.data.plan) : names[scope]}
            >
              <ScopeBars limits={limits.data.scopes[scope]} />
            </Card>
          ))}
        </div>
      )}
      <div className={pageStyles.half}>
        <ClosestCard />
        <CheckCard projectId={projectId} keyId={keyId} />
      </div>
      <OverridesCard />
    </>
  )
}

function ChooseSubject({ search }: { readonly search: LimitsSearch }) {
  const navigate = useNavigate()
  const set = (changed: LimitsSearch): void =>
    void navigate({ to: '/limits', search: (before: object) => ({ ...before, ...changed }), replace: true })
  return (
    <div className={pageStyles.bar}>
      <Field label={text.project}>
        {(input) => (
          <SubjectSelect
            input={input}
            of="project"
            none={text.anyProject}
            value={search.project_id}
            onChange={(id) => set({ project_id: id, api_key_id: undefined })}
          />
        )}
      </Field>
      <Field label={text.key}>
        {(input) => (
          <SubjectSelect
            input={input}
            of="key"
            none={text.anyKey}
            value={search.api_key_id}
            onChange={(id) => set({ project_id: undefined, api_key_id: id })}
          />
        )}
      </Field>
    </div>
  )
}
