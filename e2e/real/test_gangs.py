"""TrainingJobs on real nodes: members of busybox that find each other by the environment the operator gave them."""
import pods
import support
from support import JOB_NAME, kubectl, wait_phase

CLUSTER = "shared"

# Rank 0 waits where everybody is told to find it, the others go there; each prints what it was told. A name is known
# as soon as its pod has an address, which need not be when the first member asks.
MEET = """
echo "rank $RANK of $WORLD_SIZE, master $MASTER_ADDR"
until nslookup $TRAINYARD_JOB-worker-$((1 - RANK)).$TRAINYARD_JOB.$NAMESPACE.svc.cluster.local >/dev/null
do sleep 0.1; done
echo "found my mate"
if [ $RANK = 0 ]; then echo "hello from 0" | nc -l -p $MASTER_PORT
else until echo "hello from $RANK" | nc $MASTER_ADDR $MASTER_PORT; do sleep 0.1; done; fi
"""


class Gangs(support.Case):
    def job(self, name, script, **spec):
        """Two members with all GPUs of a node each."""
        body = support.job(name, replicas=2, gpus=support.given().options["gpus"], **spec)
        body["spec"]["roles"][0]["template"]["spec"].update(
            nodeSelector=dict([pods.LIVE]), terminationGracePeriodSeconds=2)
        body["spec"]["roles"][0]["template"]["spec"]["containers"][0].update(
            image=pods.BUSYBOX, imagePullPolicy="Never", command=["sh", "-c", script],
            env=[{"name": "NAMESPACE", "value": self.namespace}])
        return body

    def test_members_meet_and_succeed(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("meet", MEET))
            wait_phase(jobs, self.namespace, "meet", "Succeeded")
            nodes = {item["spec"]["nodeName"] for _, item in seen.events if item["spec"].get("nodeName")}
        self.assertEqual(nodes, set(support.given().real_nodes[:2]))
        for rank in (0, 1):
            log = kubectl("logs", "-n", self.namespace, f"meet-worker-{rank}").splitlines()
            self.assertEqual(log, [f"rank {rank} of 2, master meet-worker-0.meet.{self.namespace}.svc",
                                   "found my mate", f"hello from {1 - rank}"])

    def test_a_failing_program_ends_its_gang(self):
        """The other member is told to end; the job says who failed, how."""
        script = "trap 'exit 143' TERM; [ $RANK = 1 ] && exit 3; while :; do sleep 0.1; done"
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("fails", script, failure={"maxRestarts": 0}))
            job = wait_phase(jobs, self.namespace, "fails", "Failed")
            seen.wait(lambda all_: all(support.ended(item) for item in all_.values()), "no member runs")
            codes = {(item["metadata"]["name"], pods.ended(item)["exitCode"])
                     for _, item in seen.events if pods.ended(item) and item["metadata"]["labels"].get(JOB_NAME)}
        self.assertIn("fails-worker-1 on node", support.condition(job, "Failed")["message"])
        self.assertIn("exit code 3", support.condition(job, "Failed")["message"])
        self.assertEqual(codes, {("fails-worker-1", 3), ("fails-worker-0", 143)})
