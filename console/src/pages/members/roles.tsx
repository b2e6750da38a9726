import { CodeBlock } from '../../kit/code-block.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useRoles } from './queries.ts'
import styles from './page.module.css'

const text = words.members

/** What each role may do. */
export function Roles() {
  const roles = useRoles()
  if (roles.isPending) return <LoadingRows widths={[120, 300]} />
  if (roles.isError)
    return <FailureState title={text.failed.roles} error={roles.error} onRetry={() => void roles.refetch()} />
  return (
    <div className={styles.roles} role="region" aria-label={text.tabs.roles} tabIndex={0}>
      <p>{text.rolesText}</p>
      {roles.data.data.map(({ id, description, permissions }) => (
        <section key={id} className={styles.role} aria-labelledby={`role-${id}`}>
          <h2 id={`role-${id}`}>{id}</h2>
          <p>{description}</p>
          <ul className={styles.permissions} aria-label={text.permissions}>
            {permissions.map((permission) => (
              <li key={permission}>{permission === '*' ? text.everything : <code>{permission}</code>}</li>
            ))}
          </ul>
          <CodeBlock code={text.keyOfRole(id)} />
        </section>
      ))}
    </div>
  )
}
