import type { ReactNode } from "react";
import type { Status } from "../api/responses.js";
import { hrefOf } from "../route/route.js";
import { StateBadge } from "../components/badge.js";
import { Scroll } from "../components/scroll.js";
import { Text } from "../components/text.js";
import { Age } from "../components/time.js";

/** All gateways of the log, each with the way to its decisions. */
export function Gateways({ status }: { readonly status: Status }): ReactNode {
  return (
    <section className="card" aria-labelledby="gateways">
      <h2 id="gateways">Gateways that write to this log</h2>
      <Scroll title="Gateways, scroll sideways">
        <table>
          <thead>
            <tr>
              <th scope="col">Gateway</th>
              <th scope="col">State</th>
              <th scope="col">Version</th>
              <th scope="col">Uptime</th>
              <th scope="col" className="number">
                Sessions
              </th>
              <th scope="col" className="number">
                Open runs
              </th>
              <th scope="col" className="number">
                Forwarded
              </th>
              <th scope="col" className="number">
                Blocked
              </th>
            </tr>
          </thead>
          <tbody>
            {status.gateways.map((gateway) => (
              <tr key={gateway.id}>
                <td className="name">
                  <a href={hrefOf(["live"], { gateway: gateway.id })}>
                    <Text value={gateway.id} />
                  </a>
                  {gateway.id === status.gateway ? " (this one)" : ""}
                </td>
                <td>
                  <StateBadge
                    name={gateway.draining ? "draining" : gateway.ready ? "ready" : "not ready"}
                  />
                </td>
                <td className="name">
                  <Text value={gateway.version} />
                </td>
                <td>
                  <Age since={gateway.started_at} />
                </td>
                <td className="number">{gateway.sessions}</td>
                <td className="number">{gateway.runs_open}</td>
                <td className="number">{gateway.events_forwarded?.toLocaleString() ?? "–"}</td>
                <td className="number">{gateway.events_blocked?.toLocaleString() ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
