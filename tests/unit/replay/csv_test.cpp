#include <catch2/catch.hpp>

#include "replay/papers/muri.h"
#include "replay/traces/csv.h"
#include "replay/traces/trace.h"

namespace {

using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test

std::string muriError(const std::string& row) {
  const auto trace = readMuriJobs(
      "t.csv",
      "job_id,num_gpu,submit_time,iterations,iteration_time,model_name\n0,1,0,10,100,bert\n" + row + "\n");
  return trace ? "read" : trace.error().message;
}

std::string phillyError(const std::string& row) {
  const auto trace = readPhillyJobs("p.csv", "timestamp,duration,num_gpus,gpu_time,cluster\n" + row + "\n");
  return trace ? "read" : trace.error().message;
}

std::string itpError(const std::string& row) {
  const auto trace = readItpJobs("i.csv", "job_id,submission_time,duration,num_gpu\n" + row + "\n");
  return trace ? "read" : trace.error().message;
}

TEST_CASE("Columns are found by name; unknown ones and blanks do not matter") {
  const auto table = CsvTable::parse("f", " b, a ,c\r\n 1 , 2,x\n\n3,4,y\n");
  REQUIRE(table);
  const auto a = table->column("a");
  REQUIRE(a);
  REQUIRE(table->rows() == 2);
  CHECK(*table->integer(0, *a, 0, 9) == 2);
  CHECK(*table->integer(1, *a, 0, 9) == 4);
  CHECK(table->column("d").error().message == "f: no column d; there are b, a, c");
}

TEST_CASE("An invalid table is refused with its line") {
  CHECK(CsvTable::parse("f", "").error().message == "f: empty, without a header");
  CHECK(CsvTable::parse("f", "a,b\n1,2\n1\n").error().message ==
        "f line 3: 1 fields, but the header names 2");
  CHECK(CsvTable::parse("f", "a,a\n").error().message == "f line 1: column a occurs twice");
  CHECK(CsvTable::parse("f", "a,b\n\"1\",2\n").error().message ==
        "f line 2: quoted fields are not understood");
}

TEST_CASE("Invalid numbers of a Muri trace are refused with file and line and column") {
  CHECK(muriError("1,1,0,10,100,bert") == "read");
  CHECK(muriError("1,1,0,nan,100,bert") == "t.csv line 3, column iterations: 'nan' is not a number");
  CHECK(muriError("1,1,0,10,inf,bert") == "t.csv line 3, column iteration_time: 'inf' is not a number");
  CHECK(muriError("1,-1,0,10,100,bert") == "t.csv line 3, column num_gpu: -1 is not between 1 and 1000000");
  CHECK(muriError("1,1.5,0,10,100,bert") == "t.csv line 3, column num_gpu: '1.5' is not a whole number");
  CHECK(muriError("1,99999999999999999999,0,10,100,bert") ==
        "t.csv line 3, column num_gpu: '99999999999999999999' is not a whole number");
  CHECK(muriError("1,1,-5,10,100,bert") ==
        "t.csv line 3, column submit_time: -5 is not between 0 and 10000000000000");
  CHECK(muriError("1,1,1e400,10,100,bert") == "t.csv line 3, column submit_time: '1e400' is not a number");
  CHECK(muriError("1,1,,10,100,bert") == "t.csv line 3, column submit_time: '' is not a number");
  CHECK(muriError("1,1,0,10,100,") == "t.csv line 3, column model_name: missing");
  CHECK(muriError("1,1,0,1e12,1e12,bert") ==
        "t.csv line 3, column iterations: so many iterations take 1.01e+21 s, more than 1e+10");
}

TEST_CASE("Invalid numbers and dates of a Philly trace are refused with file and line and column") {
  CHECK(phillyError("2017-10-09 07:01:55,66.0,1,66.0,vc") == "read");
  CHECK(phillyError("2017-10-09 07:01:55,NaN,1,66.0,vc") ==
        "p.csv line 2, column duration: 'NaN' is not a number");
  CHECK(phillyError("2017-10-09 07:01:55,-66.0,1,66.0,vc") ==
        "p.csv line 2, column duration: -66.0 is not between 0 and 10000000000");
  CHECK(phillyError("2017-13-09 07:01:55,66.0,1,66.0,vc") ==
        "p.csv line 2, column timestamp: '2017-13-09 07:01:55' is not like 2017-10-09 07:01:55");
  CHECK(phillyError("2017-10-09 24:01:55,66.0,1,66.0,vc") ==
        "p.csv line 2, column timestamp: '2017-10-09 24:01:55' is not like 2017-10-09 07:01:55");
  CHECK(phillyError(",66.0,1,66.0,vc") ==
        "p.csv line 2, column timestamp: '' is not like 2017-10-09 07:01:55");
  CHECK(phillyError("2017-10-09 07:01:55,66.0,0,66.0,vc") ==
        "p.csv line 2, column num_gpus: 0 is not between 1 and 1000000");
  CHECK(phillyError("2017-10-09 07:01:55,66.0,1,66.0,") == "p.csv line 2, column cluster: missing");
}

TEST_CASE("Invalid numbers of an ITP trace are refused with file and line and column") {
  CHECK(itpError("a,5,10,8") == "read");
  CHECK(itpError("a,5,1e11,8") == "i.csv line 2, column duration: 1e11 is not between 0 and 10000000000");
  CHECK(itpError("a,x,10,8") == "i.csv line 2, column submission_time: 'x' is not a number");
  CHECK(itpError(",5,10,8") == "i.csv line 2, column job_id: missing");
}

TEST_CASE("More time than can be counted is refused") {
  std::string rows;
  for (int i = 0; i < 400; ++i) rows += "a,5,1e10,8\n";
  CHECK(itpError(rows) == "i.csv: its jobs, one after the other, take 4e+12 s: more than can be counted");
}

TEST_CASE("Philly's rows are sorted by submission and then as in the file and its clusters are the queues") {
  const auto trace =
      readPhillyJobs("p.csv",
                     "timestamp,duration,num_gpus,cluster\n"
                     "2017-10-09 00:00:10,3,1,b\n2017-10-08 23:59:55,2,2,a\n2017-10-09 00:00:10,1,4,a\n");
  REQUIRE(trace);
  CHECK(trace->queues == std::vector<std::string>{"a", "b"});
  REQUIRE(trace->jobs.size() == 3);
  CHECK(trace->jobs[0].gpus == 2);
  CHECK(trace->jobs[1].gpus == 1);
  CHECK(trace->jobs[2].gpus == 4);
  CHECK(trace->jobs[0].submitted == std::chrono::seconds(0));
  CHECK(trace->jobs[1].submitted == std::chrono::seconds(15));
  CHECK(trace->jobs[1].queue == 1);
  CHECK(trace->work[2].duration == std::chrono::seconds(1));
}

TEST_CASE("A cluster is a shape or a list of machines or switches with nodes") {
  REQUIRE(parseClusterShape("8x4"));
  CHECK(parseClusterShape("8x4")->size() == 8);
  CHECK(parseClusterShape("8x4")->front().gpus == 4);
  for (const char* wrong : {"", "8", "8x", "x8", "0x8", "8x0", "8x-1", "8x8x8", "1e3x8", "999999x8"})
    CHECK_FALSE(parseClusterShape(wrong));
  const auto machines =
      readClusterFile("m", "machineId, number of GPUs, single GPU mem\nm2,8, 24GB\nm1,2, 12GB\n");
  REQUIRE(machines);
  CHECK(machines->at(0).name == "m1");
  CHECK(machines->at(1).gpus == 8);
  const auto switches = readClusterFile("n", "num_switch,num_node_p_switch,num_gpu_p_node\n2,3,8\n");
  REQUIRE(switches);
  CHECK(switches->size() == 6);
  CHECK(readClusterFile("m", "machineId,number of GPUs\nm1,2\nm1,2\n").error().message ==
        "m: machine m1 occurs twice");
  CHECK(readClusterFile("m", "machineId,number of GPUs\nm1,x\n").error().message ==
        "m line 2, column number of GPUs: 'x' is not a whole number");
}

}  // namespace
