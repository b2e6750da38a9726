import { Link } from '@tanstack/react-router'
import { Badge } from '../../kit/badge.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { day, fullTime } from '../../kit/format.ts'
import { ShortId } from '../../kit/short-id.tsx'
import { words } from '../../words/en.ts'
import type { Project } from './queries.ts'
import { RowActions } from './row-actions.tsx'
import styles from './page.module.css'

const text = words.projects

export const projectColumns = (mayChange: boolean): readonly DataColumn<Project>[] => [
  {
    id: 'name',
    name: text.name,
    cell: ({ id, name }) => (
      <Link to="/projects" search={{ project_id: id }} className={styles.name} title={text.showKeys}>
        {name}
      </Link>
    ),
  },
  { id: 'id', name: text.id, priority: 2, cell: ({ id }) => <ShortId id={id} /> },
  {
    id: 'created',
    name: text.created,
    priority: 2,
    cell: ({ created_at: at }) => <span title={fullTime(at * 1_000)}>{day(at * 1_000)}</span>,
  },
  {
    id: 'status',
    name: text.status,
    cell: ({ status }) =>
      status === 'active' ? text.statuses.active : <Badge tone="none">{text.statuses.archived}</Badge>,
  },
  {
    id: 'actions',
    name: text.actions,
    cell: (project) => (
      <RowActions
        id={project.id}
        name={project.name}
        items={mayChange ? actionsOf(project) : []}
        keysOf={project.id}
        requests={{ project_id: project.id }}
      />
    ),
  },
]

const actionsOf = ({ status }: Project) =>
  status === 'active'
    ? ([
        ['edit', text.rename],
        ['archive', text.archive],
      ] as const)
    : ([
        ['edit', text.rename],
        ['unarchive', text.unarchive],
      ] as const)
